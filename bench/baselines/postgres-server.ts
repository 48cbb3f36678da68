/** The baseline of `events-postgres`: a bare Hono server that does one insert for each request through a `pg` pool. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.argv[2], max: 20 });
await pool.query(
  'create table events (id bigint generated always as identity primary key, brand text, type text, email text, domain text)',
);
const insert = {
  name: 'insert-event',
  text: 'insert into events (brand, type, email, domain) values ($1, $2, $3, $4) returning id',
};

const app = new Hono();
app.post('/rewards-api/manual-event', async (context) => {
  const { brandId, eventType, userEmail, domain } = await context.req.json();
  const { rows } = await pool.query({ ...insert, values: [brandId, eventType, userEmail, domain] });
  return context.json({ success: true, eventId: rows[0].id });
});

serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => process.send?.({ port }));
process.on('disconnect', () => process.exit());
