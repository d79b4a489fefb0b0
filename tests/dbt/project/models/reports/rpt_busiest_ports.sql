with tonnes_by_port as (
    select
        port_code,
        sum(total_tonnes) as tonnes
    from {{ ref("fct_calls") }}
    group by port_code
),

ranked as (
    select
        *,
        rank() over (order by tonnes desc) as position
    from tonnes_by_port
),

named as (
    select
        ranked.*,
        dim_ports.port_name
    from ranked
    inner join {{ ref("dim_ports") }} as dim_ports on ranked.port_code = dim_ports.port_code
)

select * from named
