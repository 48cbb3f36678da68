/** Calls endpoints of the control API by their values: the types of request and answer come from their schemas. */
import {
  type AnswerOf,
  type ControlEndpoint,
  isAnswerOf,
  type RequestOf,
} from '../contract/control/control-endpoint.ts';
import type { Reply } from './reply.ts';

/** Sends a request to the control host; the path is appended to its base. */
type Send = (request: {
  host: 'control';
  path: string;
  method: string;
  body?: unknown;
  headers: Record<string, string>;
}) => Promise<Reply>;

export interface ControlReply<Body> extends Reply<Body> {
  /** Whether the body may be an answer of the endpoint: another program may listen there. */
  isAnswer: boolean;
}

/** A call of one of these endpoints; resolves with whatever was answered. A request may be left out where it may be empty. */
export type ControlCall<Endpoints extends ControlEndpoint = ControlEndpoint> = <E extends Endpoints>(
  endpoint: E,
  ...request: object extends RequestOf<E> ? [RequestOf<E>?] : [RequestOf<E>]
) => Promise<ControlReply<AnswerOf<E>>>;

interface AnyRequest {
  path?: Record<string, string>;
  query?: object;
  body?: unknown;
}

export const controlCall =
  (send: Send, token: string | undefined): ControlCall =>
  async (endpoint, ...[request]) => {
    const { path: names = {}, query = {}, body = {} }: AnyRequest = request ?? {};
    const filled = (_: string, name: string) => encodeURIComponent(names[name] ?? '');
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, filled) + queryOf(query);
    const reply = await send({
      host: 'control',
      path,
      method: endpoint.method.toUpperCase(),
      body: endpoint.body && body,
      headers: token ? { authorization: `Bearer ${token}` } : {},
    });
    return { ...reply, body: reply.body as never, isAnswer: isAnswerOf(endpoint, reply.body) };
  };

/** `?limit=5&type=…` of the fields that are given; empty when none is. */
function queryOf(fields: object): string {
  const given = Object.entries(fields).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
