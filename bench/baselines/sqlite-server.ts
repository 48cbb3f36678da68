/** The baseline of `events-sqlite`: a bare Hono server that does one durable SQLite insert for each request. */
import { serve } from '@hono/node-server';
import SQLite from 'better-sqlite3';
import { Hono } from 'hono';

const database = new SQLite(process.argv[2] ?? '');
// As durable as the service: WAL, and every commit on disk before it is acknowledged.
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('create table events (id integer primary key, brand text, type text, email text, domain text)');
const insert = database.prepare('insert into events (brand, type, email, domain) values (?, ?, ?, ?)');

const app = new Hono();
app.post('/rewards-api/manual-event', async (context) => {
  const { brandId, eventType, userEmail, domain } = await context.req.json();
  const { lastInsertRowid } = insert.run(brandId, eventType, userEmail, domain);
  return context.json({ success: true, eventId: String(lastInsertRowid) });
});

serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => process.send?.({ port }));
process.on('disconnect', () => process.exit());
