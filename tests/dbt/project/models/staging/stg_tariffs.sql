{{ config(materialized="table") }}
select goods, rate as rate_per_tonne from {{ ref("tariffs") }}
