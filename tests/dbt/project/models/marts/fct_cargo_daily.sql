{{ config(materialized="incremental", incremental_strategy="append") }}
select
    loaded_on,
    goods,
    sum(tonnes) as tonnes,
    max(fee) as highest_fee
from {{ ref("int_cargo_priced") }}
where tonnes > 0
{% if is_incremental() %}
    and loaded_on > (select max(loaded_on) from {{ this }})
{% endif %}
group by 1, 2
