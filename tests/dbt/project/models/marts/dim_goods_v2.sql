select
    goods,
    upper(left(goods, 3)) as goods_code
from {{ ref("stg_tariffs") }}
