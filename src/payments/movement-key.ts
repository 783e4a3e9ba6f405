// The provider's idempotency key of a debt: the settlement's id, and from its second try on the number of the try behind it.

/** The same while an answer is missing, another one after the provider has said no for good. */
export function movementKey(settlementId: string, tries: number): string {
  return tries === 1 ? settlementId : `${settlementId}_${tries}`
}

/** Whose key this is; of a key that is none of ours no settlement has the id. */
export function movementOf(key: string | null): { settlementId: string; tries: number } {
  const [settlementId = '', tries = '1'] = (key ?? '').split('_')
  return { settlementId, tries: Number(tries) }
}
