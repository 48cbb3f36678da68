/** Numbers, money and times as pages show them. */
import { type Html, html } from './html.ts';

const numbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const minutes = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** `1,250` */
export const count = (value: number): string => numbers.format(value);
/** `1,250 RWT` */
export const rwt = (value: number): string => `${numbers.format(value)} RWT`;
/** `1 day`, `2 days` */
export const plural = (value: number, one: string): string =>
  `${count(value)} ${value === 1 ? one : `${one}s`}`;
export const price = (cents: number): string => dollars.format(cents / 100);

/** A day, for machines as well. */
export const day = (atMs: number): Html =>
  html`<time datetime="${new Date(atMs).toISOString()}">${days.format(new Date(atMs))}</time>`;
/** Day and minute, UTC. */
export const minute = (atMs: number): Html =>
  html`<time datetime="${new Date(atMs).toISOString()}">${minutes.format(new Date(atMs))}</time>`;

/** `review_submission` as a person would write it: `Review submission`. */
export function spelledOut(name: string): string {
  const words = name.replaceAll('_', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
