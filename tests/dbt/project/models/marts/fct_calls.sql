{{ config(materialized="incremental", unique_key="call_id") }}
with enriched as (
    select * from {{ ref("int_calls_enriched") }}
    {% if is_incremental() %}
        where arrived_at > (select max(arrived_at) from {{ this }})
    {% endif %}
),

final as (
    select
        enriched.call_id,
        enriched.imo,
        enriched.port_code,
        enriched.arrived_at,
        enriched.hours_in_port,
        coalesce(totals.lots, 0) as lots,
        totals.total_tonnes,
        totals.total_fee
    from enriched
    left join {{ ref("int_call_totals") }} as totals using (call_id)
)

select * from final
