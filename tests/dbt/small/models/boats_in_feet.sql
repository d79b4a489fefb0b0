select boat, length * 3.28 as feet from {{ ref("boats") }}
