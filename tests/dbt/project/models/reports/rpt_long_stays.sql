{{ config(materialized="view") }}
select
    call_id,
    hours_in_port,
    hours_in_port - {{ var("long_stay_hours") }} as hours_too_long
from {{ ref("int_calls_enriched") }}
where hours_in_port > {{ var("long_stay_hours") }}
order by hours_in_port desc
limit 10
