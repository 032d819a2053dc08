<!-- A statement of the orders, dearest first: sorting, choosing, named templates, parameters of the host. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:m="http://services.samples/xsd"
    exclude-result-prefixes="soapenv m">
  <xsl:output method="xml" omit-xml-declaration="yes"/>

  <xsl:param name="client" select="'nobody'"/>
  <xsl:param name="currency" select="'USD'"/>
  <xsl:variable name="orders" select="/soapenv:Envelope/soapenv:Body/m:buyStocks/order"/>
  <xsl:variable name="large" select="2000000"/>

  <xsl:template match="/">
    <statement client="{$client}" orders="{count($orders)}" volume="{sum($orders/volume)}">
      <xsl:apply-templates select="$orders">
        <xsl:sort select="price * volume" data-type="number" order="descending"/>
        <xsl:sort select="symbol"/>
      </xsl:apply-templates>
    </statement>
  </xsl:template>

  <xsl:template match="order">
    <xsl:variable name="amount" select="price * volume"/>
    <entry number="{position()}" of="{last()}">
      <xsl:attribute name="class">
        <xsl:choose>
          <xsl:when test="$amount &gt;= $large">large</xsl:when>
          <xsl:when test="symbol = 'IBM' and volume &lt; 2000">small</xsl:when>
          <xsl:otherwise>usual</xsl:otherwise>
        </xsl:choose>
      </xsl:attribute>
      <buyer><xsl:value-of select="normalize-space(buyerID)"/></buyer>
      <stock><xsl:value-of select="concat(volume, ' ', symbol)"/></stock>
      <xsl:call-template name="amount">
        <xsl:with-param name="value" select="$amount"/>
        <xsl:with-param name="name" select="'total'"/>
      </xsl:call-template>
      <xsl:if test="$amount &gt;= $large">
        <xsl:call-template name="amount">
          <xsl:with-param name="value" select="$amount * 0.04"/>
          <xsl:with-param name="name" select="'fee'"/>
        </xsl:call-template>
      </xsl:if>
    </entry>
  </xsl:template>

  <xsl:template name="amount">
    <xsl:param name="value"/>
    <xsl:param name="name"/>
    <xsl:element name="{$name}">
      <xsl:attribute name="currency"><xsl:value-of select="$currency"/></xsl:attribute>
      <xsl:value-of select="format-number($value, '#,##0.00')"/>
    </xsl:element>
  </xsl:template>
</xsl:stylesheet>
