select goods from {{ ref("stg_tariffs") }}
