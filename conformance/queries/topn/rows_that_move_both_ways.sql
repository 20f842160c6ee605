-- compare: exact
-- about: top-N over aggregates that need not grow: all rows are kept
CREATE TABLE orders (
  order_id BIGINT, customer STRING, product STRING, qty INT, price DECIMAL(8, 2), order_time TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'data/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT customer, a, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY a DESC) AS rn FROM (SELECT customer, AVG(qty) AS a FROM orders GROUP BY customer)) WHERE rn <= 2;
SELECT customer, m, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY m DESC) AS rn FROM (SELECT customer, MAX(qty) + 1 AS m FROM orders GROUP BY customer)) WHERE rn <= 2;
SELECT customer, m, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY m DESC) AS rn FROM (SELECT customer, MAX(qty) AS m FROM orders GROUP BY customer HAVING COUNT(*) > 1)) WHERE rn <= 2;
SELECT customer, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY n ORDER BY customer) AS rn FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer)) WHERE rn = 1;
SELECT customer, n, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n) AS rn FROM (SELECT customer, SUM(qty) AS n FROM orders GROUP BY customer)) WHERE rn BETWEEN 2 AND 3;
