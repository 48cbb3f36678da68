/** Reads what a request to the services host asks, and about which user. */
import type { Context } from 'hono';
import type { z } from 'zod';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import { type ServiceUser, userOf } from '../../contract/services/user.ts';
import { OBJECT_PROBLEM, problemsOf } from '../../contract/shapes.ts';
import { readJsonBody } from '../frame/body.ts';
import type { RequestVariables } from '../frame/request-record.ts';

export interface QuestionSettings {
  bodyLimitBytes: number;
  /** Domain under which users of chat platforms have their stand-in e-mail. */
  ownDomain: string;
}

type Refused = { refusal: ServicesRefusal };

/** The fields of path and query. */
export const fieldsOf = (context: Context): { fields: Record<string, unknown> } => ({
  fields: { ...context.req.query(), ...context.req.param() },
});

/** The fields of the body. */
export async function bodyFieldsOf(
  context: Context<RequestVariables>,
  settings: QuestionSettings,
): Promise<{ fields: Record<string, unknown> } | Refused> {
  const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
  if ('refusal' in body) return body;
  context.get('notes').body = body.text;
  const { value } = body;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { refusal: { code: 'invalid_body', problem: `body: ${OBJECT_PROBLEM}` } };
  return { fields: value as Record<string, unknown> };
}

/** What is asked, checked by the endpoint's schema; a field that is null or empty counts as not sent. */
export function askedOf<Schema extends z.ZodType>(
  read: { fields: Record<string, unknown> } | Refused,
  schema: Schema,
): { asked: z.output<Schema> } | Refused {
  if ('refusal' in read) return read;
  const given = Object.entries(read.fields).filter(([, value]) => value !== null && value !== '');
  const parsed = schema.safeParse(Object.fromEntries(given));
  return parsed.success
    ? { asked: parsed.data }
    : { refusal: { code: 'invalid_request', errors: problemsOf(parsed.error) } };
}

/** The same of a question about one user, with the user. */
export function askedOfUser<
  Schema extends z.ZodType<{ userIdentifier: string; platform?: string | undefined }>,
>(
  read: { fields: Record<string, unknown> } | Refused,
  schema: Schema,
  { ownDomain }: Pick<QuestionSettings, 'ownDomain'>,
): { asked: z.output<Schema>; user: ServiceUser } | Refused {
  const question = askedOf(read, schema);
  if ('refusal' in question) return question;
  const user = userOf(question.asked, ownDomain);
  return 'errors' in user ? { refusal: { code: 'invalid_request', ...user } } : { ...question, user };
}
