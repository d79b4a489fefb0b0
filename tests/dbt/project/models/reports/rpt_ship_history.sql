select
    history.imo,
    ships.ship_name,
    history.port_code,
    history.previous_port_code
from (
    select
        imo,
        port_code,
        lag(port_code) over (partition by imo order by arrived_at) as previous_port_code
    from {{ ref("fct_calls") }}
) as history
left join {{ ref("dim_ships") }} as ships on history.imo = ships.imo
