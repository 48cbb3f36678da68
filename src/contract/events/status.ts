/** GET health, diagnostic and debug (contract: Endpoints). */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { example } from '../examples.ts';
import { instant } from '../shapes.ts';
import { anywhere } from '../shared-refusals.ts';
import type { EventsRefusalCode } from './refusals.ts';

const dependency = z.enum(['connected', 'disconnected']).meta({ id: 'DependencyState' });
const dependencies = {
  database: dependency,
  blockchain: dependency,
  idp: z.enum(['connected', 'disconnected', 'none']).meta({
    id: 'IdentityState',
    description: '`none` where users cannot log in, so that nothing is missing.',
  }),
};
const overall = z.enum(['healthy', 'degraded']).meta({ id: 'ServiceState' });

export const healthResult = z.object({
  status: overall,
  timestamp: instant(),
  services: z.object(dependencies).meta({ id: 'Dependencies' }),
});

const diagnosticResult = z.object({ status: overall, ...dependencies, timestamp: instant() });

const debugResult = z.object({
  debug: z.string(),
  hostname: z.string(),
  path: z.string(),
  method: z.string(),
  timestamp: instant(),
  worker_version: z.string(),
});

const { timestamp } = example;
const connected = { database: 'connected', blockchain: 'connected', idp: 'connected' };

export const healthEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'health',
  tag: 'Service',
  method: 'get',
  path: '/health',
  prefixed: true,
  summary: 'Health of the service and what it depends on',
  examples: [{ summary: 'Health' }],
  answers: {
    200: {
      description: '`healthy` only when every dependency answers.',
      body: named('Health', healthResult),
      example: { status: 'healthy', timestamp, services: connected },
    },
  },
  refusals: anywhere,
};

export const diagnosticEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'diagnostic',
  tag: 'Service',
  method: 'get',
  path: '/diagnostic',
  prefixed: true,
  summary: 'The same, flat',
  examples: [{ summary: 'Diagnostic' }],
  answers: {
    200: {
      description: 'The state of each dependency.',
      body: named('Diagnostic', diagnosticResult),
      example: { status: 'healthy', ...connected, timestamp },
    },
  },
  refusals: anywhere,
};

export const debugEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'debug',
  tag: 'Service',
  method: 'get',
  path: '/debug',
  prefixed: true,
  summary: 'Which program answers',
  examples: [{ summary: 'Debug' }],
  answers: {
    200: {
      description: 'The program and the request as it saw it.',
      body: named('Debug', debugResult),
      example: {
        debug: 'rewards event handler',
        hostname: '127.0.0.1',
        path: '/rewards-api/debug',
        method: 'GET',
        timestamp,
        worker_version: 'rewards/0.1.0',
      },
    },
  },
  refusals: anywhere,
};
