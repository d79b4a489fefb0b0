select boat from {{ ref("boats_in_feet") }} where feet > 30
