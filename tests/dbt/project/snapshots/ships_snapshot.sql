{% snapshot ships_snapshot %}
    {{ config(target_schema="snapshots", unique_key="imo", strategy="timestamp", updated_at="_loaded_at") }}
    select
        imo,
        trim(ship_name) as ship_name,
        flag,
        gross_tonnage,
        owner,
        _loaded_at
    from {{ source("raw", "ships") }}
{% endsnapshot %}
