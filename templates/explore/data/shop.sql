-- A small shop, the same every time: 200 customers and 1,500 orders from January to October 2026.
-- `packloop init` makes shop.db from this file. Three facts are planted in it; try not to look.

CREATE TABLE customers (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  country TEXT NOT NULL
);

CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (id),
  placed_on TEXT NOT NULL,
  product TEXT NOT NULL,
  carrier TEXT NOT NULL,
  total_cents INTEGER NOT NULL,
  delivery_days INTEGER NOT NULL,
  returned INTEGER NOT NULL
);

WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 200)
INSERT INTO customers (id, name, country)
SELECT
  i,
  'Customer ' || i,
  CASE i % 4 WHEN 0 THEN 'Denmark' WHEN 1 THEN 'Finland' WHEN 2 THEN 'Norway' ELSE 'Sweden' END
FROM n;

WITH RECURSIVE
  n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1500),
  plain AS (
    SELECT
      i,
      CASE WHEN i % 10 < 3 THEN 1 + i * 7 % 5 ELSE 6 + i * 37 % 195 END AS customer_id,
      date('2026-01-01', '+' || (i / 5) || ' days') AS placed_on,
      CASE i * 13 % 5 WHEN 0 THEN 'lamp' WHEN 1 THEN 'kettle' WHEN 2 THEN 'chair' WHEN 3 THEN 'rug' ELSE 'clock' END
        AS product,
      CASE i / 7 % 3 WHEN 0 THEN 'Heron' WHEN 1 THEN 'Swift' ELSE 'Wren' END AS carrier
    FROM n
  )
INSERT INTO orders (id, customer_id, placed_on, product, carrier, total_cents, delivery_days, returned)
SELECT
  i,
  customer_id,
  placed_on,
  product,
  carrier,
  2000 + i * 97 % 6000,
  -- Since September, parcels to Norway are late.
  i % 3 + CASE WHEN country = 'Norway' AND placed_on >= '2026-09-01' THEN 10 ELSE 3 END,
  -- Kettles do not survive one of the carriers.
  CASE WHEN product = 'kettle' AND carrier = 'Heron' THEN i * 17 % 7 < 3 ELSE i * 17 % 19 = 0 END
FROM plain
JOIN customers ON customers.id = customer_id;
