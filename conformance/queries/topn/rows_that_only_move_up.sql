-- compare: exact
-- about: top-N over aggregates that grow: only the rows in range are kept, and an update moves past others
CREATE TABLE orders (
  order_id BIGINT, customer STRING, product STRING, qty INT, price DECIMAL(8, 2), order_time TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'data/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT customer, m, n, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY m DESC) AS rn FROM (SELECT customer, MAX(qty) AS m, COUNT(*) AS n FROM orders WHERE qty IS NOT NULL GROUP BY customer)) WHERE rn <= 2;
SELECT customer, m, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY m DESC) AS rn FROM (SELECT customer, MAX(qty) AS m, COUNT(*) AS n FROM orders WHERE qty IS NOT NULL GROUP BY customer)) WHERE rn <= 2;
SELECT customer, m, n, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY m ASC) AS rn FROM (SELECT customer, MIN(qty) AS m, COUNT(*) AS n FROM orders WHERE qty IS NOT NULL GROUP BY customer)) WHERE rn BETWEEN 2 AND 3;
SELECT customer, product, n, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY n DESC) AS rn FROM (SELECT customer, product, COUNT(*) AS n FROM orders GROUP BY customer, product)) WHERE rn <= 2;
SELECT customer, product, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY n DESC) AS rn FROM (SELECT customer, product, COUNT(*) AS n FROM orders GROUP BY customer, product)) WHERE rn <= 2;
SELECT customer, n, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC) AS rn FROM (SELECT customer, SUM(qty) AS n FROM orders WHERE qty > 0 GROUP BY customer)) WHERE rn <= 2;
SELECT n, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC) AS rn FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer)) WHERE rn <= 3;
SELECT customer, m, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY m DESC, customer) AS rn FROM (SELECT customer, MAX(qty) AS m FROM orders GROUP BY customer)) WHERE rn <= 2;
SELECT customer, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC) AS rn FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer)) WHERE rn = 1;
