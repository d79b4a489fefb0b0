{% set goods = ["grain", "ore", "cars"] %}
select
    call_id,
    {% for name in goods %}
        sum(case when goods = '{{ name }}' then tonnes else 0 end) as {{ name }}_tonnes,
    {% endfor %}
    sum(tonnes) as all_tonnes
from {{ ref("int_cargo_priced") }}
group by call_id
having sum(tonnes) > 10
