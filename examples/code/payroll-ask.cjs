return JSON.stringify(openPage()).replaceAll('$', '\\u0024');
