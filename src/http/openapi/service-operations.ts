/** The other operations of the event handler host: users, brands, the service itself (contract: Endpoints). */
import { userBalanceQuestion } from '../../contract/events/user-balance.ts';
import type { Operation } from './document.ts';
import { demo, example } from './examples.ts';
import { ownDescription } from './own-description.ts';
import { anywhere, withBody } from './refusal-examples.ts';

const { brandId, domain, user: userEmail } = demo;
const { timestamp } = example;
const balance = {
  success: true,
  balance: 100,
  walletAddress: example.walletAddress,
  history: [
    {
      transactionHash: example.transactionHash,
      eventType: 'account_creation',
      amount: 100,
      timestamp: Date.parse(timestamp),
    },
  ],
};
const dependencies = { database: 'connected', blockchain: 'connected', idp: 'connected' };

/** `apiPrefix` stands in front of the paths that have it. */
export function serviceOperations(apiPrefix: string): Operation[] {
  return [
    {
      id: 'userBalance',
      tag: 'Users',
      method: 'get',
      path: `${apiPrefix}/user-balance`,
      summary: 'What a user holds',
      parameters: [{ in: 'query', schema: userBalanceQuestion }],
      examples: [{ summary: 'With the last rewards', query: { brandId, userEmail, includeHistory: 'true' } }],
      answers: { 200: { description: 'The balance.', schema: 'Balance', example: balance } },
      refusals: ['invalid_event_data', 'brand_not_found', ...anywhere],
    },
    {
      id: 'userBalanceByBody',
      tag: 'Users',
      method: 'post',
      path: `${apiPrefix}/user-balance`,
      summary: 'The same, without the e-mail in an address',
      body: 'BalanceQuestion',
      examples: [
        {
          summary: 'With the last rewards',
          body: { brandId, userEmail, includeHistory: true, historyLimit: 10 },
        },
      ],
      answers: { 200: { description: 'The balance.', schema: 'Balance', example: balance } },
      refusals: [...withBody, 'invalid_event_data', 'brand_not_found'],
    },
    {
      id: 'verifyDns',
      tag: 'Brands',
      method: 'post',
      path: `${apiPrefix}/verify-dns`,
      summary: 'Look whether a domain is linked to a brand in DNS',
      description:
        'Reads the TXT records of `_rewards.<domain>`, of the form `brand_id=<brand id>;api_key=<verification token>`. A valid one links events of the domain to the brand; when it is gone, the next look unlinks them. The token gives no other right: DNS is public.',
      body: 'VerifyDns',
      examples: [{ summary: 'The demo domain', body: { domain } }],
      answers: {
        200: {
          description: 'What DNS says.',
          schema: 'DnsResult',
          example: {
            success: true,
            domain,
            dnsConfigured: true,
            brandId,
            message: `_rewards.${domain} links this domain to the brand`,
          },
        },
      },
      refusals: [...withBody, 'invalid_event_data'],
    },
    {
      id: 'health',
      tag: 'Service',
      method: 'get',
      path: `${apiPrefix}/health`,
      summary: 'Health of the service and what it depends on',
      examples: [{ summary: 'Health' }],
      answers: {
        200: {
          description: '`healthy` only when every dependency answers.',
          schema: 'Health',
          example: { status: 'healthy', timestamp, services: dependencies },
        },
      },
      refusals: anywhere,
    },
    {
      id: 'diagnostic',
      tag: 'Service',
      method: 'get',
      path: `${apiPrefix}/diagnostic`,
      summary: 'The same, flat',
      examples: [{ summary: 'Diagnostic' }],
      answers: {
        200: {
          description: 'The state of each dependency.',
          schema: 'Diagnostic',
          example: { status: 'healthy', ...dependencies, timestamp },
        },
      },
      refusals: anywhere,
    },
    {
      id: 'debug',
      tag: 'Service',
      method: 'get',
      path: `${apiPrefix}/debug`,
      summary: 'Which program answers',
      examples: [{ summary: 'Debug' }],
      answers: {
        200: {
          description: 'The program and the request as it saw it.',
          schema: 'Debug',
          example: {
            debug: 'rewards event handler',
            hostname: '127.0.0.1',
            path: `${apiPrefix}/debug`,
            method: 'GET',
            timestamp,
            worker_version: 'rewards/0.1.0',
          },
        },
      },
      refusals: anywhere,
    },
    ...ownDescription('Document', anywhere),
  ];
}
