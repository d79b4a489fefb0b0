{{ config(materialized="view") }}
with cargo as (select * from {{ ref("stg_cargo") }}),

tariffs as (select * from {{ ref("stg_tariffs") }}),

priced as (
    select
        cargo.cargo_id,
        cargo.call_id,
        cargo.goods,
        cargo.tonnes,
        coalesce(tariffs.rate_per_tonne, 5.0) as rate_per_tonne,
        case when cargo.goods = 'cars' then 'rolling' else 'bulk' end as handling,
        cargo.tonnes * coalesce(tariffs.rate_per_tonne, 5.0) as fee,
        cast(cargo.loaded_at as date) as loaded_on
    from cargo
    left join tariffs on cargo.goods = tariffs.goods
)

select * from priced
