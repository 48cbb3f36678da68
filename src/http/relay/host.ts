/** The relay host: its endpoints and what they use (contract: Endpoints). */
import type { Hono } from 'hono';
import { relayHostContract } from '../../contract/relay/host.ts';
import { createHostFrame, type HostFrameDeps } from '../frame/host-frame.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { type RelayDeps, type RelayStatusDeps, relay, relayStatus } from './relay.ts';

export type RelayHostDeps = HostFrameDeps & RelayDeps & RelayStatusDeps;

export function createRelayHost(deps: RelayHostDeps): Hono<RequestVariables> {
  return createHostFrame(deps, {
    name: 'relay',
    contract: relayHostContract,
    refuse: deps.refuser.answer,
    handlers: { relay: relay(deps), relayStatus: relayStatus(deps) },
  });
}
