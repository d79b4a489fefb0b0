{{ config(materialized="ephemeral") }}
select
    imo,
    ship_name,
    upper(owner) as owner,
    gross_tonnage
from {{ source("raw", "ships") }}
