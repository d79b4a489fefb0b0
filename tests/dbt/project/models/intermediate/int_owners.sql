{{ config(materialized="ephemeral") }}
select
    owner,
    count(imo) as ships
from {{ ref("stg_ships") }}
group by owner
