import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** An empty database of its own on a server, and its URL; it goes when the server goes. */
export async function createDatabase(serverUrl: string): Promise<string> {
  const name = `torture_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
