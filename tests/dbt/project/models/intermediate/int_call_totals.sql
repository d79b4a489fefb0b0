select
    call_id,
    count(*) as lots,
    sum(tonnes) as total_tonnes,
    round(sum(fee), 2) as total_fee
from {{ ref("int_cargo_priced") }}
group by call_id
