with current_ships as (
    select * from {{ ref("ships_snapshot") }}
    where dbt_valid_to is null
)

select
    imo,
    ship_name,
    flag,
    case
        when gross_tonnage >= 50000 then 'large'
        when gross_tonnage >= 20000 then 'medium'
        else 'small'
    end as size_class
from current_ships
