/** How the control API says no: the same form everywhere, with a reason that programs can rely on. */
import type { Context } from 'hono';

export function controlProblem(
  context: Context,
  status: 400 | 401 | 403 | 404 | 409 | 500 | 503,
  said: { error: string; message: string; details?: Record<string, unknown> },
): Response {
  const { error, message, details = {} } = said;
  return context.json({ success: false, error, message, details }, status);
}
