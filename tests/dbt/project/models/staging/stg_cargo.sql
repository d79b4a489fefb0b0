select
    *,
    {{ kilograms("tonnes") }} as kilograms
from {{ source("raw", "cargo") }}
