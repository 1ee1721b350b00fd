// The report: one row for each person, with what became of the payment.

/** What to do about an unknown payment of this workflow. */
const SEE_THE_NOTE = 'What to do stands in the note The report';

const FINDINGS = /^(paid|notPaid|recordPaid)$/;

const { period, payDay, payroll } = $('Period').first().json;
const now = $now.setZone('Africa/Addis_Ababa');
const due = now.minus({ days: payDay - 1 }).startOf('month');
/** Whether the node Period takes it, so that it can be settled. */
const isPeriod = (text) =>
	/^\d{4}-(0[1-9]|1[0-2])$/.test(text) &&
	text >= due.minus({ months: 12 }).toFormat('yyyy-MM') &&
	text <= due.toFormat('yyyy-MM');

const answers = $input.all().map(({ json }) => json);

const items = $('Payments')
	.all()
	.map(({ json: person }, index) => {
		const answer = answers[index] ?? {};
		// What failed has all of it under error; n8n sometimes gives only a text there.
		const told = {
			...answer,
			...(typeof answer.error === 'object'
				? answer.error
				: { message: answer.error ?? answer.message }),
		};
		// An answer about another payment says nothing about this one.
		const isMine =
			told.reference === undefined || told.reference === '' || told.reference === person.reference;
		// Who was paid by the table must not look as if the next run may pay them, and n8n forgets Finding
		// whenever a person changes Mode.
		const isLost =
			told.outcome === 'ready'
				? /^(paid|recordPaid)$/.test(person.finding)
				: /^Finding is .*, and the field finding/.test(told.message) &&
					FINDINGS.test(person.finding);
		// What is free already only recordPaid records.
		const remedy =
			told.outcome === 'ready'
				? `The next run with Pay would pay it. Write recordPaid into finding, set Finding in Pay salaries to From Each Item, and run it again. Do not set Mode to Pay before`
				: 'Set Finding in Pay salaries to From Each Item, and settle again before anybody is paid';
		const notRecorded =
			told.mode === 'settle' && isLost
				? `The table says ${person.finding}, which was not recorded. ${remedy}`
				: '';
		const of = /^\d{4}-\d{2}/.exec(person.written)?.[0];
		const isOfAnother = isPeriod(of) && of !== period;
		const isMistaken = person.written !== '' && !FINDINGS.test(person.finding);
		const where =
			payroll === 'gate' ? 'do it at the desk' : `write ${of} into period of the node Period`;
		const mistake = isOfAnother
			? `is about another period: to settle that, ${where}. Is it settled? Then empty it`
			: 'cannot be used: correct it, or empty it';
		// A finding of this period for a payment of another one would be believed, and nobody paid.
		const words = `Write ${period} paid or ${period} notPaid only if the partner service said so about ${person.reference}`;
		// Who has a finding may have been paid, also when the payment could not be asked about.
		const ifNotAsked = person.finding === 'unclear' ? 'notPaid' : 'unknown';
		const outcome =
			person.problem !== '' && told.mode !== 'settle'
				? ifNotAsked
				: (isMine && notRecorded === '' && told.outcome) || 'unknown';
		const notAsked =
			outcome === 'notPaid' && person.reference !== ''
				? ' Whether it was paid before was not asked.'
				: '';
		const reason = [
			notRecorded,
			isMistaken ? `The table says ${person.written}, which ${mistake}` : '',
			isMistaken && (!isOfAnother || told.outcome === 'unknown') ? words : '',
			// The node's words about what is free lead to Pay.
			...(told.outcome === 'ready' && notRecorded !== ''
				? []
				: [told.message, told.description, told.reason]),
		]
			.filter((text) => typeof text === 'string' && text !== '')
			// The node asks for words without a period, and what was written is about none or another one.
			.filter((text) => !(isMistaken && /^(Was it paid\?|Write paid, notPaid)/.test(text)))
			.map((text) => text.replace(/<br\/?>/g, ' ').replace(/\.$/, ''))
			// The node's own steps are for lists without a table.
			.map((text) =>
				text.replace(
					/(Ask the partner service whether it was paid, (while no execution|and settle it then)|Its finding is there:).*$/s,
					SEE_THE_NOTE,
				),
			)
			// In the table a finding has its period.
			.map((text) =>
				text.replace(/\bwrite (recordPaid|paid, notPaid)/gi, (words) =>
					words.replace(/ (?=\w*paid)/gi, ` ${period} `),
				),
			)
			.join('. ');
		return {
			json: {
				name: person.name,
				outcome,
				reason:
					(person.problem && `${person.problem}${notAsked}`) ||
					reason ||
					(outcome === 'unknown' ? 'No answer came about this payment' : ''),
				amountEtb: Number(told.amountEtb ?? person.amountEtb) || 0,
				employee: person.employee,
				period,
				userId: person.toUserId,
				reference: person.reference,
				// Said only by a run that sends nothing: dryRun or settle.
				...(told.mode !== undefined && { mode: told.mode }),
				// Who asks the service about an unknown payment tells it the time. A run that names its mode sent nothing.
				time:
					outcome === 'paid' ||
					(outcome === 'unknown' && answer.error !== undefined && told.mode === undefined)
						? now.toFormat('yyyy-MM-dd HH:mm')
						: '',
				txHash: told.txHash ?? '',
			},
			pairedItem: { item: index },
		};
	});
