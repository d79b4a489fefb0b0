{{ config(enabled=false) }}
select 1 as never_built
