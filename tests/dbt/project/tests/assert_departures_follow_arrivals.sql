select calls.call_id
from {{ ref("stg_calls") }} as calls
inner join {{ ref("fct_calls") }} as facts on calls.call_id = facts.call_id
where calls.departed_at < facts.arrived_at
