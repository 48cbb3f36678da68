/** Every consumer, in the order in which those at one position digest the same facts. A new one is a file beside this and a line here. */
import { achievements } from './achievements.ts';
import { boards } from './boards.ts';
import type { Consumer } from './consumer.ts';
import { webhooks } from './webhooks.ts';

export const consumers: readonly Consumer[] = [boards, webhooks, achievements];
