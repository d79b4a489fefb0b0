{% macro kilograms(tonnes) %}cast({{ tonnes }} * 1000 as bigint){% endmacro %}
