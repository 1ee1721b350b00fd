// The page that asks for approval, or the one at the end, and then the rows. `register.cjs` has `answer` (of the form), `results`
// (of the list), `rows` (for the register) and `sent` (the lines that were sent).
const [upload] = itemsOf(() => $('Upload a list'));
const [{ error }] = itemsOf(() => $('Check List'));
const { user, decision } = answer;
const ended = (outcome) => results.filter(hasOutcome(outcome));
const [ready, unknown, notPaid, before] = ['ready', 'unknown', 'notPaid', 'alreadyPaid'].map(ended);
const isPaying = sent.size > 0;
const isSelf = user?.id === upload.user?.id && decision?.startsWith('Approve');
const asks = ready.length > 0 && !isPaying && (!$('Ask').isExecuted || isSelf);
const { period = upload.period, purpose = upload.purpose, notRead = [] } = results[0] ?? {};
const nameOf = (one) =>
	escapeHtml(one ? `${one.firstName} ${one.lastName} (${one.email})` : 'nobody');
const listAgain = uploadLink({ period, purpose: upload.purpose }, 'Upload the list again');
const uploadAgain = `<p>${listAgain}: it pays who was not paid.</p>`;
const withRemark = (code) => ready.filter(hasRemark(code));
const otherUnknown = withRemark('otherUnknown');
const paidForPeriod = withRemark('paidForPeriod');
const paidLately = withRemark('paidLately');
const renamed = withRemark('changedName');
const twice = likeOthers(ready);
const isSettled = ({ reference }) => register.get(reference)?.settledBy;
const settledBefore = ready.filter(isSettled);
// A salary that is at least double or half of the last one, or of the table of people before the first one.
const peopleByKey = new Map(itemsOf(() => $('People')).map((row) => [row.person, row]));
const isFarFromBefore = ({ person, amountEtb, lastTime = peopleByKey.get(person) ?? {} }) =>
	amountOf(lastTime) > 0 &&
	(amountEtb >= 2 * amountOf(lastTime) || amountEtb * 2 <= amountOf(lastTime));
const farFromBefore = purpose === 'salary' ? ready.filter(isFarFromBefore) : [];
// One person of many is a doubt about that person, and most of them are one about the list.
const isMost = ({ length }) => length > 0 && length * 2 >= ready.length;
const isDoubtful =
	otherUnknown.length + twice.length + farFromBefore.length > 0 ||
	isMost(paidForPeriod) ||
	isMost(paidLately);
const doubtHeading = (rows, text) =>
	isMost(rows) ? `<h2><em>${text}</em></h2>` : `<h4>${text}</h4>`;
const ofThese = ({ length }) => `${length} of ${countPeople(ready)}`;
const paidAgain = new Set(paidForPeriod.map(({ person }) => person));
const ofPeriod = registered.filter((row) => hasOutcome('paid')(row) && row.period === period);
const withOtherPurpose = ofPeriod.filter(
	(row) => row.purpose !== purpose && paidAgain.has(row.person),
);
const days = $('Check List').params.payDay - 1;
const due = local(Date.now()).minus({ days }).toFormat('yyyy-LL');
const known = registered.filter((row) => hasOutcome('paid')(row) && row.purpose === purpose);
const earlier = known.filter((row) => row.period < period);
const last = earlier.reduce((newest, row) => (row.period > newest ? row.period : newest), '');
const thisTime = known.filter((row) => row.period === period);
const personsNow = new Set([...results, ...thisTime].map(({ person }) => person));
const missing = earlier.filter((row) => row.period === last && !personsNow.has(row.person));
const ofFile = itemsOf(() => $('People')).filter(({ payroll }) => payroll === 'file');
const setUp = purpose === 'salary' ? ofFile : [];
const notListed = [...setUp, ...missing].filter(({ person }) => person && !personsNow.has(person));
// Without an outcome, because the heading gives no sum of what was paid another time.
const withoutOutcome = notListed.map((row) => [row.person, { ...row, outcome: undefined }]);
const absent = [...new Map(withoutOutcome).values()];
// A correction is judged by what was paid before.
const isCorrection = /^correction/.test(purpose);
const withPaidBefore = (row) => {
	const paidForIt = ofPeriod.filter(({ person }) => person === row.person);
	const text = `Paid for ${period} before: ${sum(paidForIt)} ETB.`;
	return isCorrection ? { ...row, remarks: [...row.remarks, { text }] } : row;
};
// Who was paid less than the list has. A second correction needs a purpose of its own.
const tooLittle = before.filter((row) =>
	isCorrection ? hasRemark('changedAmount')(row) : unpaidOf(row) > 0.005,
);
const corrected = new Set(
	ofPeriod.filter((row) => row.purpose === 'correction').map(({ person }) => person),
);
const hasCorrection = tooLittle.some(({ person }) => corrected.has(person));
// The rows of the period that another list left.
const ownReferences = new Set(rows.map(({ reference }) => reference));
const leftByOthers = registered.filter(
	(row) => row.period === period && !hasOutcome('paid')(row) && !ownReferences.has(row.reference),
);
const rounded = ready.filter(({ listedEtb }) => listedEtb);
const roundingDifference = rounded.reduce((total, row) => total + row.listedEtb - row.amountEtb, 0);
const namesOf = (rows) =>
	rows
		.slice(0, 5)
		.map(({ name }) => escapeHtml(name))
		.join(', ') + (rows.length > 5 ? `, ${rows.length - 5} more` : '');
const isMarked = (row) => remarksOf(row, 'rounded', 'paidLately', 'sameName').length > 0;
const meanwhile = before.filter(({ isPaidMeanwhile }) => isPaidMeanwhile);
const marked = ready.map(withPaidBefore).filter((row) => isMarked(row) || isSettled(row));
const markedLines = new Set(marked.map(({ line }) => line));
const usual = ready.filter(({ line }) => !markedLines.has(line));
const stillUnpaid = decision?.startsWith('Decline') ? [] : [...notPaid, ...ready];
const written = asks || (ready.length > 0 && !isPaying) ? [] : rows;
const file = `${escapeHtml(upload.list?.filename)}, uploaded by ${nameOf(upload.user)}`;
const decided = `${isPaying ? 'approved' : 'declined'} by ${nameOf(user)}`;
const unasked = ready.length > 0 ? 'not approved in time' : 'nothing to approve';
const by = isPaying || decision ? decided : unasked;
const paidPart = asks
	? [marked.length > 0 ? 'The others who will be paid' : 'Will be paid', usual]
	: ['Paid', ended('paid')];
const unknownParts = unknown.length > 0 ? [['UNKNOWN', unknown]] : [];
const otherParts = [
	[asks ? 'Will not be paid' : 'Not paid', isPaying ? [...notPaid, ...ready] : notPaid],
	[
		decision?.startsWith('Decline') ? 'Declined' : 'Not paid, because nobody approved it',
		asks || isPaying ? [] : ready,
	],
	['Paid before, not again', before],
	['Set up or paid last time, and not in this list', absent],
].filter(([, rows]) => rows.length > 0);
const headings = [...unknownParts, paidPart, ...otherParts].map((part) => heading(...part));
const question = [
	isSelf && '<h4>Who uploaded this list tried to approve it. Somebody else has to.</h4>',
	otherUnknown.length > 0 &&
		`<h2><em>UNKNOWN whether ${ofThese(otherUnknown)} got another payment, see below</em></h2>`,
	paidForPeriod.length > 0 &&
		doubtHeading(
			paidForPeriod,
			`A second payment for ${escapeHtml(period)} to ${ofThese(paidForPeriod)}? ${sum(paidForPeriod)} ETB on top of ${sum(withOtherPurpose)} ETB for another purpose.${isCorrection ? ' A correction is only the difference.' : ''}`,
		),
	paidLately.length > 0 &&
		doubtHeading(
			paidLately,
			`Paid in the last 10 days: ${ofThese(paidLately)}. Are month and purpose right?`,
		),
	twice.length > 0 &&
		`<h2><em>The same person under two numbers? ${numbersOf(twice)}: see below</em></h2>`,
	farFromBefore.length > 0 &&
		`<h2><em>Very different from before: ${numbersOf(farFromBefore)}. Is the amount right? See below</em></h2>`,
	`<h2>${sum(ready)} ETB for ${countPeople(ready)}: ${escapeHtml(inWords(purpose))}, ${escapeHtml(period)}</h2>`,
	renamed.length > 0 && `<h4>Another name than before, see below: ${numbersOf(renamed)}</h4>`,
	settledBefore.length > 0 &&
		`<h4>Recorded as not paid before, see below by whom: ${numbersOf(settledBefore)}</h4>`,
	unknown.length > 0 && `<h4>${heading('UNKNOWN, see below', unknown)}</h4>`,
	notPaid.length > 0 && `<h4>${heading('Will not be paid, see below', notPaid)}</h4>`,
	absent.length > 0 && `<h4>Not in this list, see below: ${countPeople(absent)}</h4>`,
	`<p>${file}. Checked at ${minuteOf(Date.now())}. Somebody else has to approve it: send them the address of this page.</p>`,
	section('Will be paid, look at these', marked),
	rounded.length > 0 &&
		`<p>Rounded amounts: ${rounded.length} (${namesOf(rounded)}). ${Math.abs(roundingDifference) < 0.005 ? 'The sum stays the same.' : `Rounding makes the sum ${Math.abs(roundingDifference).toFixed(2)} ETB ${roundingDifference < 0 ? 'larger' : 'smaller'}.`}</p>`,
];
const result = [
	`<h2>${[escapeHtml(forWhat({ purpose, period })), ...headings].join('.<br>')}</h2>`,
	`<p>${file}, ${by}.</p>`,
	unknown.length > 0 &&
		`<p>Do not pay who is UNKNOWN another way. Ask the partner service, and record what it says in ${formLink('etb-file-open', 'What is open')}.</p>`,
	stillUnpaid.some(hasOutcome('notPaid')) &&
		'<p>Read below why somebody was not paid, and correct that first.</p>',
	stillUnpaid.length > 0 && uploadAgain,
	leftByOthers.length > 0 &&
		`<p>Of other lists for ${escapeHtml(period)}, ${countPeople(leftByOthers)} not paid or UNKNOWN: see ${formLink('etb-file-open', 'What is open')}.</p>`,
	// n8n does not show the page of an execution that ended red again.
	written.some(isLeft) &&
		`<p>This page opens once. Later see the published workflow ${formLink('etb-payments', 'Payments of a period')}.</p>`,
];
const dueLink = uploadLink({ period: due, purpose: upload.purpose }, `Upload it for ${due}`);
const wrongPeriod = `This is for ${escapeHtml(period)}. ${due} is due. Was this list for ${due}? ${dueLink}`;
const html = page(
	period < due &&
		(asks || ended('paid').length === 0) &&
		(ready.length > 0 ? `<h4>${wrongPeriod}</h4>` : `<h2><em>${wrongPeriod}</em></h2>`),
	meanwhile.length > 0 && `<h4>Paid or settled as paid meanwhile: ${numbersOf(meanwhile)}</h4>`,
	...(asks ? question : result),
	...[...unknownParts, ...(asks ? [] : [paidPart]), ...otherParts].map((part) => section(...part)),
	notPaid.some((row) => row.code === 'aboveMaximum') &&
		'<p>Options are in the node Pay salaries: ask who looks after n8n.</p>',
	purpose !== 'correction-2' &&
		tooLittle.length > 0 &&
		`<p>${period < due ? `It is for ${escapeHtml(period)}, and too` : 'Too'} little was paid? Upload the difference, with the purpose ${hasCorrection ? 'correction 2' : 'correction'}.</p>`,
	notRead.length > 0 && `<p>Columns that were not read: ${escapeHtml(notRead.join(', '))}.</p>`,
	noPersons(itemsOf(() => $('Check List')).filter(isNoPerson)),
	asks && section(...paidPart),
	asks &&
		`<p>When this list is decided, reload this page. If it shows an error then, somebody was not paid or is UNKNOWN: see ${formLink('etb-payments', 'Payments of a period')} and ${formLink('etb-file-open', 'What is open')}, and then ${listAgain.replace('Upload', 'upload')}. Are you ${nameOf(upload.user)}? You uploaded this list, and cannot approve it.</p>`,
);
const why = error && `<p>${escapeHtml(error.message)}. ${escapeHtml(error.remedy)}</p>`;
const failed =
	error && page('<h2>The list cannot be used: nothing was sent</h2>', why, `<p>${listAgain}</p>`);
const approve = `Approve: pay ${sum(ready)} ETB${paidForPeriod.length === ready.length ? ' on top' : ''} to ${countPeople(ready)}, ${inWords(purpose)}, ${period}`;
const decline = 'Decline: pay nobody';
// The first choice is the easy one.
const decisions = isDoubtful ? [decline, approve] : [approve, decline];
const decide = radio('decision', 'Your decision', decisions);
const item = { asks, approve, fields: [html, decide], page: (failed ?? html).html };
const inFile = asks || written.length > 0 ? written : [{ reason: 'Nothing was sent' }];
return [item, ...toPlaces(written), ...inFile.map(fileRow)].map((json) => ({ json }));
