{{ config(schema="reporting", alias="port_calls") }}
with numbered as (
    select
        port_code,
        call_id,
        row_number() over (partition by port_code order by arrived_at desc) as latest
    from {{ ref("fct_calls") }}
)

select
    port_code,
    call_id as latest_call_id
from numbered
where latest = 1
