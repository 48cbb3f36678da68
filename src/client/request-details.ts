/** Kept requests whole, for what repeats them. */
import { type RequestDetail, showRequest } from '../contract/control/requests.ts';
import type { ControlCall } from './control-call.ts';

/** Of these ids those that the log still has; in the order in which they came, since slow ones are logged late. `ids`: oldest first. */
export async function requestDetails(call: ControlCall, ids: readonly string[]): Promise<RequestDetail[]> {
  const found: RequestDetail[] = [];
  for (const id of ids) {
    const reply = await call(showRequest, { path: { id } });
    if (reply.status === 200 && reply.isAnswer) found.push(reply.body);
  }
  return found.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}
