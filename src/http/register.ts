/** The register host: its endpoint and what it uses (contract: Endpoints). */
import type { Hono } from 'hono';
import { registerHostContract } from '../contract/register/host.ts';
import { type AddressGateDeps, addressGate } from './frame/addresses/address-gate.ts';
import { createHostFrame, type HostFrameDeps } from './frame/host-frame.ts';
import type { RequestVariables } from './frame/request-record.ts';
import { type PregenerateUserDeps, pregenerateUser } from './pregenerate-user.ts';

type RegisterHostDeps = HostFrameDeps & AddressGateDeps & PregenerateUserDeps;

export function createRegisterHost(deps: RegisterHostDeps): Hono<RequestVariables> {
  return createHostFrame(deps, {
    name: 'register',
    contract: registerHostContract,
    refuse: deps.refuser.answer,
    gate: addressGate(deps, deps.refuser.answer),
    handlers: { pregenerateUser: pregenerateUser(deps) },
  });
}
