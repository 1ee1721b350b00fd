// The page that asks for approval, or the one at the end, and then the rows. `results.cjs` has `answer` (of the form), `results`
// (of the list) and `sent` (the lines that were sent), `register.cjs` has `rows` (for the register).
const rounded = ready.filter(({ listedEtb }) => listedEtb);
const roundingDifference = rounded.reduce((total, row) => total + row.listedEtb - row.amountEtb, 0);
const namesOf = (rows) =>
	rows
		.slice(0, 5)
		.map(({ name }) => escapeHtml(name))
		.join(', ') + (rows.length > 5 ? `, ${rows.length - 5} more` : '');
const meanwhile = before.filter(({ isPaidMeanwhile }) => isPaidMeanwhile);
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
	...largeDoubts,
	`<h2>${sum(ready)} ETB for ${countPeople(ready)}: ${escapeHtml(inWords(purpose))}, ${escapeHtml(period)}</h2>`,
	...smallDoubts,
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
		`<p>When this list is decided, ${formLink('etb-payments', 'Payments of a period')} shows who was paid, and ${formLink('etb-file-open', 'What is open')} who was not or is UNKNOWN: then ${listAgain.replace('Upload', 'upload')}. If nobody of this list is there, it was declined, or not approved in time. Are you ${nameOf(upload.user)}? You uploaded this list, and cannot approve it.</p>`,
);
const why = error && `<p>${escapeHtml(error.message)}. ${escapeHtml(error.remedy)}</p>`;
const failed =
	error && page('<h2>The list cannot be used: nothing was sent</h2>', why, `<p>${listAgain}</p>`);
const approve = `Approve: pay ${sum(ready)} ETB${withRemark('paidForPeriod').length === ready.length ? ' on top' : ''} to ${countPeople(ready)}, ${inWords(purpose)}, ${period}`;
const decline = 'Decline: pay nobody';
// The first choice is the easy one.
const decisions = largeDoubts.length > 0 ? [decline, approve] : [approve, decline];
const decide = radio('decision', 'Your decision', decisions);
const item = { asks, approve, fields: [html, decide], page: (failed ?? html).html };
const inFile = asks || written.length > 0 ? written : [{ reason: 'Nothing was sent' }];
return [item, ...toPlaces(written), ...inFile.map(fileRow)].map((json) => ({ json }));
