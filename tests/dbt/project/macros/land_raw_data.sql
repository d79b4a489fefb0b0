{% macro land_raw_data() %}
    create schema if not exists raw;
    create table if not exists raw.calls as
        select *, now() as _loaded_at from (values
            (1, 9000001, 'nlrtm', '2026-03-01 06:00', '2026-03-02 18:00'),
            (2, 9000002, 'beanr', '2026-03-01 09:00', '2026-03-01 17:00'),
            (3, 9000001, 'deham', '2026-03-05 03:00', '2026-03-06 12:00'),
            (4, 9000003, 'nlrtm', '2026-03-07 11:00', null)
        ) as rows (call_id, ship_imo, port, arrived, departed);
    create table if not exists raw.cargo as
        select * from (values
            (1, 1, 'grain', 1200.0, '2026-03-01 08:00'),
            (2, 1, 'cars', 90.0, '2026-03-01 09:30'),
            (3, 2, 'ore', 5000.0, '2026-03-01 10:00'),
            (4, 3, 'grain', 800.0, '2026-03-05 05:00'),
            (5, 4, 'salt', 15.0, '2026-03-07 12:00')
        ) as rows (cargo_id, call_id, goods, tonnes, loaded_at);
    create table if not exists raw.ships as
        select *, timestamp '2026-01-01 00:00:00' as _loaded_at from (values
            (9000001, 'Aurora', 'NL', 2001, 40000, 'Noord BV'),
            (9000002, 'Borealis', 'BE', 2010, 65000, 'Zuid NV'),
            (9000003, 'Cygnus', 'DE', 1995, 12000, 'Noord BV')
        ) as rows (imo, ship_name, flag, built, gross_tonnage, owner)
{% endmacro %}
