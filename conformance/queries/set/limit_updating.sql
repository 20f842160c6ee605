-- compare: exact
-- about: LIMIT and ORDER BY … LIMIT over updates: others take the place of rows that go
CREATE TABLE orders (
  order_id BIGINT, customer STRING, product STRING, qty INT, price DECIMAL(8, 2), order_time TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'data/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
CREATE TABLE stock (
  sku STRING, name STRING, shelf STRING, qty INT, price DECIMAL(6, 2), PRIMARY KEY (sku) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = 'data/stock.debezium.json', 'format' = 'debezium-json');
SELECT product, n FROM (SELECT product, COUNT(*) AS n FROM orders GROUP BY product) ORDER BY n DESC LIMIT 2;
SELECT product, n FROM (SELECT product, COUNT(*) AS n FROM orders GROUP BY product) ORDER BY n LIMIT 2;
SELECT product, n FROM (SELECT product, COUNT(*) AS n FROM orders GROUP BY product) LIMIT 2;
SELECT product, COUNT(*) AS n FROM orders GROUP BY product LIMIT 0;
SELECT product, COUNT(*) AS n FROM orders GROUP BY product ORDER BY n LIMIT 0;
SELECT sku, price FROM stock LIMIT 2;
SELECT sku, price FROM stock LIMIT 2 OFFSET 2;
SELECT sku FROM stock ORDER BY price DESC LIMIT 2;
SELECT COUNT(*) AS n FROM (SELECT order_id FROM orders LIMIT 5);
SELECT order_id, price FROM orders ORDER BY price LIMIT 1;
SELECT order_id, price FROM orders ORDER BY price DESC LIMIT 1 OFFSET 1;
SELECT DISTINCT product FROM orders ORDER BY product LIMIT 2;
