with calls as (select * from {{ ref("stg_calls") }}),

ports as (select * from {{ ref("stg_ports") }}),

ships as (select * from {{ ref("stg_ships") }}),

joined as (
    select
        calls.call_id,
        calls.imo,
        ships.ship_name,
        ships.owner,
        calls.port_code,
        ports.port_name,
        calls.arrived_at,
        calls.departed_at,
        date_diff('hour', calls.arrived_at, calls.departed_at) as hours_in_port
    from calls
    left join ports on calls.port_code = ports.port_code
    left join ships on calls.imo = ships.imo
)

select * from joined
