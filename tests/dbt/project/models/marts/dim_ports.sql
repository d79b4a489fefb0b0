{{ config(materialized="view") }}
with known as (
    select port_code, port_name, country from {{ ref("stg_ports") }}
),

seen as (
    select port_code, 'unknown' as port_name, null as country from {{ ref("stg_calls") }}
    where port_code not in (select port_code from known)
)

select * from known
union all
select * from seen
