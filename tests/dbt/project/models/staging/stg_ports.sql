with ports as (select * from {{ ref("ports") }})

select
    ports.*,
    country = 'NL' as is_domestic
from ports
