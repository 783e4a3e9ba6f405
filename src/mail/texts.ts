// What mails say, in English. Another language is another object of this type: no sentence stands anywhere else in this room.
import type { MailKind } from './mail.ts'

/** Ready to be read: one-line texts, money and times in words. Null where a booking has no such thing. */
export type MailWords = {
  reference: string
  title: string
  /** What the mail is about: the tickets there are, or the seats that were given back. */
  seats: string
  /** The seats that are left, of a booking that was cancelled in part. */
  seatsLeft: string
  money: string | null
  moneyIsZero: boolean
  wasPaid: boolean
}
export type MailText = { subject: string; paragraphs: string[] }
export type Texts = {
  /** BCP 47, for the document and the words of the date. */
  language: string
  hello: (name: string | null) => string
  labels: { film: string; where: string; when: string; zone: string; seats: string; booking: string }
  link: string
  qr: (place: string) => string
  footer: string
  mails: Record<MailKind, (words: MailWords) => MailText>
}

export const ENGLISH: Texts = {
  language: 'en-GB',
  hello: (name) => (name ? `Hello ${name},` : 'Hello,'),
  labels: {
    film: 'What',
    where: 'Where',
    when: 'When',
    zone: 'Local time',
    seats: 'Seats',
    booking: 'Booking reference',
  },
  link: 'Your booking',
  qr: (place) => `The code that admits one person to seat ${place}`,
  footer: 'You get this mail because this address was given with the booking.',
  mails: {
    CONFIRMATION: ({ title, reference }) => ({
      subject: `Your tickets for ${title} (${reference})`,
      paragraphs: [
        'Your booking is confirmed and paid. Your tickets are attached to print, and to put into your calendar.',
        'At the door each person shows one code, on paper or on a screen.',
      ],
    }),
    CANCELLATION: ({ title, reference, money, moneyIsZero }) => ({
      subject: `Cancelled: ${title} (${reference})`,
      paragraphs: [
        'Your booking is cancelled. Its tickets are no longer valid.',
        moneyIsZero || !money ? 'Nothing is refunded.' : `You get ${money} back, the way you paid.`,
      ],
    }),
    PART_CANCELLATION: ({ title, reference, money, moneyIsZero, seats, seatsLeft }) => ({
      subject: `Partly cancelled: ${title} (${reference})`,
      paragraphs: [
        `Cancelled: ${seats}. These tickets are no longer valid.`,
        moneyIsZero || !money ? 'Nothing is refunded.' : `You get ${money} back, the way you paid.`,
        `You keep: ${seatsLeft}. These tickets are attached.`,
      ],
    }),
    REFUND: ({ title, reference, money, wasPaid }) => ({
      subject: wasPaid ? `Refund for ${title} (${reference})` : `Not booked, money returned: ${title} (${reference})`,
      paragraphs: wasPaid
        ? [`We have refunded ${money ?? 'your payment'}, the way you paid. It can take your bank some days to show it.`]
        : [
            'Your payment reached us too late: the seats were not booked.',
            `We have returned ${money ?? 'your payment'} in full. It can take your bank some days to show it.`,
          ],
    }),
    NOT_BOOKED: ({ title, reference }) => ({
      subject: `Not booked: ${title} (${reference})`,
      paragraphs: [
        'Your payment reached us too late: the time for which the seats were held was over, and they were not booked.',
        'You are not charged. What was only reserved on your card is let go; what was taken is returned in full.',
      ],
    }),
    PAYMENT_FAILED: ({ title, reference }) => ({
      subject: `Payment failed, not booked: ${title} (${reference})`,
      paragraphs: [
        'Your payment did not go through. Nothing is booked yet, and you are not charged.',
        'While your seats are held you can pay another way. After that they are on sale again for everybody.',
      ],
    }),
    REMINDER: ({ title, reference }) => ({
      subject: `Soon: ${title} (${reference})`,
      paragraphs: ['This is a reminder of your visit. Your tickets are attached once more.'],
    }),
  },
}
