/** The signatures of a webhook taken apart: the exact text that is signed, each header, and what a verifier sees. */
import type { Child } from 'hono/jsx';
import type { DeliverySignatures } from '../../../contract/control/webhooks.ts';
import { formatDuration } from '../../../lib/duration.ts';
import { shellLine, shellOptions } from '../../../lib/text/shell-quoted.ts';
import { visibleText } from '../../../lib/text/visible-text.ts';
import { Command, Field, Filter } from '../../parts/action.tsx';
import { ExactMoment } from '../../parts/moment.tsx';
import { Facts, Section, Table } from '../../parts/table.tsx';
import { Body, Id, State, Text } from '../../parts/text.tsx';

type OfEndpoint = DeliverySignatures['endpoints'][number];
type Signature = OfEndpoint['signatures'][number];

interface Taken {
  of: DeliverySignatures;
  /** When the verifier looks, as it stands in the page's address. */
  at: string | undefined;
  /** Where e-mail addresses are left out of the body, what is signed cannot be shown. */
  isWhole: boolean;
}

export const SignaturesOf = ({ of, at, isWhole }: Taken): Child => (
  <>
    <Section title="Signatures, taken apart">
      <p class="quiet">
        By the time of the machine, which the stack’s clock does not move. The secret is in none of it.
      </p>
      <Filter label="When the verifier looks">
        <Field name="at" label="verified at" value={at} placeholder="now, or 2030-01-01T00:00:00Z" />
      </Filter>
      <Command text={`${shellLine`rewards webhooks deliveries signature ${of.id}`}${shellOptions({ at })}`} />
    </Section>
    {of.endpoints.map((one, place) => (
      <Section title={`As ${visibleText(one.url)} gets it`} live={`signatures-${place}`}>
        <Signatures of={one} whole={of} isWhole={isWhole} />
      </Section>
    ))}
    {of.endpoints.length === 0 && <p class="quiet">No endpoint is left whose secret could sign it.</p>}
  </>
);

function Signatures(props: { of: OfEndpoint; whole: DeliverySignatures; isWhole: boolean }): Child {
  const { of, whole, isWhole } = props;
  const { toleranceSeconds } = whole;
  const atMs = Date.parse(whole.at);
  const signedMs = Date.parse(of.signedAt);
  const edge = (bySeconds: number) => <ExactMoment at={signedMs + bySeconds * 1_000} nowMs={atMs} />;
  return (
    <>
      <Facts
        of={[
          [
            of.isOfAttempt ? 'latest attempt signed' : 'signed, if it began now',
            <ExactMoment at={signedMs} nowMs={atMs} />,
          ],
          ['tolerance', `${formatDuration(toleranceSeconds * 1_000)} before and after`],
          ['accepted until', edge(toleranceSeconds)],
          ['secrets', of.rotates ? 'two: the previous one signs as well' : 'one'],
          ['endpoint', <Id of={of.endpointId} />],
        ]}
      />
      <Table
        label={`Signatures for ${of.endpointId}`}
        columns={['header', 'scheme', 'key', 'a verifier says']}
        rows={of.signatures.map((one) => [
          <code>{one.header}</code>,
          one.scheme,
          one.key,
          <Verdict of={one} />,
        ])}
        empty="It was not signed."
      />
      {of.signatures.map((one) => (
        <details>
          <summary>What {one.header} signs, byte for byte</summary>
          <p>
            {one.prefix === '' ? (
              'The body alone.'
            ) : (
              <>
                <code>{one.prefix}</code> and then the body.
              </>
            )}
          </p>
          {isWhole && (
            <Body of={one.prefix + whole.body} label={`What ${one.header} signs at ${of.endpointId}`} exact />
          )}
        </details>
      ))}
      <h3>Headers</h3>
      <Facts of={Object.entries(of.headers).map(([name, value]) => [name, <Text of={value} />])} />
    </>
  );
}

const Verdict = ({ of: { verifies, ageSeconds, failed } }: { of: Signature }): Child =>
  verifies ? (
    <>
      <State is="good">verifies</State>
      {ageSeconds === null ? ', whenever it comes' : `, ${ageText(ageSeconds)}`}
    </>
  ) : (
    <>
      <State is="bad">{failed?.part ?? 'fails'}</State>{' '}
      <Text of={[failed?.message, failed?.fix].filter(Boolean).join('. ')} />
    </>
  );

const ageText = (seconds: number) =>
  seconds < 0
    ? `${formatDuration(-seconds * 1_000)} ahead of the verifier`
    : `${formatDuration(seconds * 1_000)} old`;
