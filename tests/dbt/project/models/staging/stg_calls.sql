with source as (
    select * from {{ source("raw", "calls") }}
),

renamed as (
    select
        call_id,
        ship_imo as imo,
        upper(port) as port_code,
        cast(arrived as timestamp) as arrived_at,
        cast(departed as timestamp) as departed_at
    from source
)

select * from renamed
