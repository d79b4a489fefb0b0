with revenue as (
    select
        enriched.owner,
        sum(calls.total_fee) as revenue
    from {{ ref("fct_calls") }} as calls
    inner join {{ ref("int_calls_enriched") }} as enriched on calls.call_id = enriched.call_id
    group by enriched.owner
)

select
    owners.owner,
    owners.ships,
    revenue.revenue,
    revenue.revenue / owners.ships as revenue_per_ship
from {{ ref("int_owners") }} as owners
left join revenue on owners.owner = revenue.owner
